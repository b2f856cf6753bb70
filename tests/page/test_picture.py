"""The picture of what an answer stands on, and of a project: its list, its keys, its frames."""

from __future__ import annotations

from typing import Any

import pytest

from tests.function.corpus import PROJECT, QUESTION
from tests.page.browser import PHONE, Visit
from tests.page.conftest import Visits
from tests.page.hostile_texts import HOSTILE
from tests.page.replies import (
    answer,
    answering,
    citation,
    large_project,
    problem,
    reading,
    stream,
    telling,
)
from tests.page.test_hostile_texts import assert_is_text_alone, shown

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(240)]

FACT = "The harbour office refuses a berth at low water."
PICTURE = ".turn:last-child .picture"
SETTLED = "canvas[data-settled=true]"


def mentioned(id_: str, title: str, *communities: int) -> dict[str, Any]:
    return {"id": id_, "title": title, "communities": list(communities)}


def chunk(number: int, *entities: dict[str, Any], title: str = "Berths") -> dict[str, Any]:
    """Return what is read of a chunk."""
    ids = sorted({one for entity in entities for one in entity["communities"]})
    return {
        "id": f"chunk-{number}", "heading": "Rules", "place": f"{number} of 9", "text": FACT,
        "document": {"id": "d", "name": f"Document {number}"}, "before": None, "after": None,
        "entities": list(entities), "more_entities": False,
        "communities": [
            {"id": one, "level": 0, "title": f"{title} {one}", "summary": f"Summary of {one}."}
            for one in ids
        ],
    }  # fmt: skip


def entity(id_: str, title: str, *related: str) -> dict[str, Any]:
    """Return what is read of an entity."""
    relation = {"direction": "out", "description": "x", "weight": 1}
    relations = [{**relation, "entity_id": one, "title": one.upper()} for one in related]
    return {
        "id": id_, "title": title, "description": f"About {title}.", "relations": relations,
        "chunks": [], "more_relations": False, "more_chunks": False,
    }  # fmt: skip


async def harbour(visit: Visit, **first: Any) -> None:
    """Have an answer stand on two passages that share an entity."""
    office, tide = mentioned("office", "HARBOUR OFFICE", 1), mentioned("tide", "TIDE TABLE", 1, 2)
    await reading(visit.page, "/chunks/chunk-1", chunk(1, office, tide))
    await reading(visit.page, "/chunks/chunk-2", chunk(2, office, mentioned("quay", "NORTH QUAY")))
    await reading(visit.page, "/entities/", entity("office", "HARBOUR OFFICE", "tide", "pilot"))
    for path, body in first.items():
        await reading(visit.page, f"/chunks/{path.replace('_', '-')}", body)
    trace = {"followups": [], "communities": [2]}
    document = answer(FACT, [(FACT, [citation(1), citation(2)])], trace=trace)
    await answering(visit.page, stream(("result", document)))
    await visit.ask(QUESTION, project=PROJECT, until=".actions")


async def unfolded(visit: Visit) -> None:
    await visit.page.click(".turn:last-child .work > summary")
    await visit.page.wait_for_selector(PICTURE)


async def opened(visit: Visit) -> None:
    await unfolded(visit)
    await visit.page.click(f"{PICTURE} > summary")
    await visit.page.wait_for_selector(f"{PICTURE} {SETTLED}")


async def names(visit: Visit, kind: str) -> list[str]:
    """Return the names in the list under the heading of a kind."""
    rows = visit.page.locator(f"{PICTURE} h3:has(.is-{kind}) + ul .row bdi")
    return await rows.all_inner_texts()


async def test_a_picture_shows_the_topics_of_the_cited_passages(visit: Visit) -> None:
    await visit.ask(QUESTION, project=PROJECT, until=".actions")
    cited = visit.page.locator(".references .open")
    assert await visit.page.evaluate("typeof globalThis.d3") == "undefined"
    await unfolded(visit)
    async with visit.page.expect_response(lambda reply: "/chunks/" in reply.url) as reply:
        await visit.page.click(f"{PICTURE} > summary")
    told = await (await reply.value).json()
    await visit.page.wait_for_selector(f"{PICTURE} {SETTLED}")
    assert (told["entities"], bool(told["communities"])) == ([], True)
    assert {one["title"] for one in told["communities"]} <= set(await names(visit, "community"))
    assert 1 <= len(await names(visit, "passage")) <= await cited.count()
    await visit.picture("desk-picture-of-an-answer", whole=True)
    await visit.assert_for_everybody()


async def test_entities_of_most_passages_come_first_with_what_is_around_them(visit: Visit) -> None:
    await harbour(visit)
    await opened(visit)
    assert await names(visit, "passage") == ["Document 1 · Rules", "Document 2 · Rules"]
    assert (await names(visit, "entity"))[0] == "HARBOUR OFFICE"
    assert set(await names(visit, "entity")) == {"HARBOUR OFFICE", "TIDE TABLE", "NORTH QUAY"}
    assert set(await names(visit, "around")) == {"PILOT"}
    assert set(await names(visit, "community")) >= {"Berths 1", "Berths 2"}
    label = await visit.page.get_attribute(f"{PICTURE} canvas", "aria-label")
    assert "2 passages, 3 entities" in (label or "")


async def test_everything_in_it_is_read_by_keyboard(visit: Visit) -> None:
    await harbour(visit)
    await unfolded(visit)
    await visit.page.focus(f"{PICTURE} > summary")
    await visit.page.keyboard.press("Enter")
    await visit.page.wait_for_selector(f"{PICTURE} {SETTLED}")
    for _ in range(12):
        await visit.page.keyboard.press("Tab")
        if await visit.page.evaluate("document.activeElement.textContent") == "HARBOUR OFFICE":
            break
    await visit.page.keyboard.press("Enter")
    await visit.page.wait_for_selector("#panel .passage")
    assert "About HARBOUR OFFICE." in await visit.text("#panel-body")
    await visit.page.keyboard.press("Escape")
    assert await visit.page.evaluate("document.activeElement.textContent") == "HARBOUR OFFICE"

    await visit.page.locator(f"{PICTURE} .row", has_text="Berths 1").press("Enter")
    await visit.page.wait_for_selector("#panel .text")
    assert "Summary of 1." in await visit.text("#panel-body")
    await visit.page.keyboard.press("Escape")


@pytest.mark.deep
async def test_a_click_in_it_opens_what_is_there_and_moving_it_does_not(visit: Visit) -> None:
    await harbour(visit)
    await opened(visit)
    await visit.page.locator(f"{PICTURE} canvas").scroll_into_view_if_needed()
    box = await visit.page.locator(f"{PICTURE} canvas").bounding_box()
    assert box

    async def find() -> tuple[float, float] | None:
        for down in range(8, int(box["height"]), 8):
            for across in range(8, int(box["width"]) - 60, 12):
                await visit.page.mouse.move(box["x"] + across, box["y"] + down)
                if await visit.page.evaluate(
                    "document.querySelector('.picture canvas').classList.contains('is-over')"
                ):
                    return box["x"] + across, box["y"] + down
        return None

    place = await find()
    assert place
    await visit.page.mouse.move(*place)
    await visit.page.mouse.down()
    await visit.page.mouse.move(place[0] + 60, place[1] + 40, steps=4)
    await visit.page.mouse.up()
    assert not await visit.page.locator("#panel").is_visible()
    await visit.page.mouse.click(place[0] + 60, place[1] + 40)
    await visit.page.wait_for_selector("#panel[open]")
    assert await visit.page.evaluate("document.querySelector('.picture canvas').width") > 0


async def test_buttons_zoom_it_and_show_all_of_it_again(visit: Visit) -> None:
    await harbour(visit)
    await opened(visit)

    async def drawn() -> str:
        return str(
            await visit.page.evaluate(
                "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame("
                "() => done(document.querySelector('.picture canvas').toDataURL()))))"
            )
        )

    whole = await drawn()
    await visit.page.get_by_role("button", name="Zoom in").click()
    near = await drawn()
    await visit.page.get_by_role("button", name="Zoom out").click()
    await visit.page.get_by_role("button", name="Zoom out").click()
    far = await drawn()
    assert len({whole, near, far}) == 3
    await visit.page.get_by_role("button", name="Show all of it").click()
    assert await drawn() == whole


async def test_nothing_that_can_be_read_is_said_in_its_place(visits: Visits) -> None:
    visit = await visits(refusals=True)
    await reading(visit.page, "/chunks/", problem(500, "graph_unavailable"))
    await telling(visit.page, FACT)
    await visit.ask(QUESTION, project=PROJECT, until=".actions")
    await unfolded(visit)
    await visit.page.click(f"{PICTURE} > summary")
    await visit.page.wait_for_selector(f"{PICTURE} .picture-inside .facts")
    assert "could not be read" in await visit.text(f"{PICTURE} .picture-inside")
    assert await visit.page.locator(f"{PICTURE} canvas").count() == 0


async def test_what_cannot_be_read_makes_it_smaller_and_the_answer_stays(visits: Visits) -> None:
    visit = await visits(refusals=True)
    await harbour(visit, chunk_2=problem(404, "not_found"))
    await opened(visit)
    assert set(await names(visit, "entity")) == {"HARBOUR OFFICE", "TIDE TABLE"}
    assert "could not be read" in await visit.text(f"{PICTURE} .picture-inside")
    assert FACT.removesuffix(".") in await visit.text(".answer")
    assert await visit.page.locator(".turn .problem").count() == 0


async def test_it_reads_twelve_things_at_most(visit: Visit) -> None:
    office = mentioned("office", "HARBOUR OFFICE", 1)
    await reading(visit.page, "/chunks/", chunk(1, office, *(
        mentioned(f"e{one}", f"E{one}") for one in range(49)
    )))  # fmt: skip
    await reading(visit.page, "/entities/", entity("office", "HARBOUR OFFICE"))
    facts = [(FACT, [citation(one) for one in range(1, 60)])]
    document = answer(FACT, facts, trace={"followups": [], "communities": [1]})
    await answering(visit.page, stream(("result", document)))
    await visit.ask(QUESTION, project=PROJECT, until=".actions")
    asked: list[str] = []
    visit.page.on("request", lambda one: asked.append(one.url) if "/rag" not in one.url else None)
    await opened(visit)
    assert 1 < len(asked) <= 12
    assert len(await names(visit, "entity")) == 40


async def test_hostile_names_in_it_are_text(visit: Visit) -> None:
    texts = list(HOSTILE.items())
    for at in range(0, len(texts), 20):
        part = dict(texts[at : at + 20])
        await visit.page.unroute_all()
        hostile = [mentioned(f"e{one}", text, 1) for one, text in enumerate(part.values())]
        of_first = chunk(1, *hostile, title=next(iter(part.values())))
        await harbour(visit, chunk_1=of_first)
        await opened(visit)
        rows = visit.page.locator(f"{PICTURE} h3:has(.is-entity) + ul .row bdi")
        told = await rows.evaluate_all("(all) => all.map((one) => one.textContent)")
        assert {shown(text) for text in part.values() if text.strip()} <= set(told)
        for kind in ("entity", "community"):
            await visit.page.locator(f"{PICTURE} h3:has(.is-{kind}) + ul .row").first.focus()
        inside = visit.page.locator(f"{PICTURE} .picture-inside")
        more = "script, img, svg, iframe, a, [onerror], [style]:not(canvas)"  # it has a colour
        assert await inside.locator(more).count() == 0
        await assert_is_text_alone(visit, ".answer", f"from {at}")
        await visit.page.evaluate("document.getElementById('turns').replaceChildren()")


async def test_it_is_for_everybody_on_a_phone_too(visits: Visits) -> None:
    visit = await visits(viewport=PHONE, color_scheme="dark", locale="de-DE")
    rtl = mentioned("rtl", "دائرة المرفأ والرصيف الشمالي", 1)
    await harbour(visit, chunk_1=chunk(1, mentioned("office", "HARBOUR OFFICE", 1), rtl))
    await opened(visit)
    await visit.picture("phone-dark-picture", whole=True)
    await visit.assert_for_everybody()
    wide = await visit.page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0


async def test_a_project_is_seen_as_a_picture_that_leads_to_its_communities(visit: Visit) -> None:
    rows = large_project()["communities"][:20]
    await reading(
        visit.page, f"/projects/{PROJECT}/communities", {"communities": rows, "next": None}
    )
    await visit.page.select_option("#project", PROJECT)
    await visit.page.click("#show-communities")
    await visit.page.click("#panel .picture > summary")
    await visit.page.wait_for_selector(f"#panel {SETTLED}")
    label = await visit.page.get_attribute("#panel canvas", "aria-label")
    assert "20 communities" in (label or "")
    await visit.picture("desk-picture-of-a-project")
    await visit.assert_for_everybody()

    box = await visit.page.locator("#panel canvas").bounding_box()
    assert box
    for at in range(10, int(box["width"]), 6):
        await visit.page.mouse.move(box["x"] + at, box["y"] + box["height"] / 2)
        if await visit.page.locator("#panel canvas.is-over").count():
            break
    await visit.page.mouse.down()
    await visit.page.mouse.up()
    opened_rows = visit.page.locator(".communities details[open] > summary")
    assert await opened_rows.count() >= 1
    assert await visit.page.evaluate("document.activeElement.tagName") == "SUMMARY"


async def test_of_a_thousand_communities_the_widest_are_drawn_and_all_can_be_found(
    visit: Visit,
) -> None:
    await reading(visit.page, f"/projects/{PROJECT}/communities", large_project())
    await visit.page.select_option("#project", PROJECT)
    await visit.page.click("#show-communities")
    await visit.page.click("#panel .picture > summary")
    await visit.page.wait_for_selector(f"#panel {SETTLED}", timeout=60_000)
    assert "24 communities" in (await visit.page.get_attribute("#panel canvas", "aria-label") or "")
    assert "24 widest and largest of 1,000" in await visit.text("#panel .picture-inside")
    await visit.page.get_by_label("Find a community").fill("COMMUNITY 77")
    assert "11 communities found" in await visit.text(".finder [role=status]")
    await visit.picture("desk-finding-a-community")
    await visit.assert_for_everybody()
    await visit.page.get_by_role("button", name="Community 777").click()
    opened_row = visit.page.locator(".communities details[open] > summary", has_text="777")
    assert await opened_row.count() == 1


async def test_the_first_of_a_hierarchy_are_the_widest_and_of_each_level_the_largest(
    visit: Visit,
) -> None:
    for communities, ids in (
        ([(1, 0, 5), (2, 1, 1), (3, 1, 2), (4, 0, 9)], ["3", "2", "4"]),
        ([(1, 0, 1), (2, 0, 3), (3, 0, 2), (4, 0, 0)], ["2", "3", "1"]),  # of one level
    ):
        rows = [{"id": str(one), "level": at, "members": size} for one, at, size in communities]
        found = await visit.page.evaluate(
            """async (rows) => {
              const { first } = await import("/rag/x/communities.js");
              return first(rows, 3).map((one) => one.id);
            }""",
            rows,
        )
        assert found == ids
