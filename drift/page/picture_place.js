/**
 * Where a picture can be opened: nothing of it is loaded before. A picture that fails is said in
 * its place, and what stands around it stays.
 */
import { element } from "./elements.js";
import { word } from "./words.js";

/** @typedef {import("./references.js").Reference} Reference */

/**
 * @param {string} title
 * @param {() => Promise<Node>} load
 */
export function picturePlace(title, load) {
  const inside = element("div", { class: "picture-inside" });
  let isLoaded = false;
  const made = element("details", { class: "picture", ontoggle: async () => {
    if (!made.open || isLoaded) return;
    isLoaded = true;
    inside.replaceChildren(element("p", { class: "busy", role: "status" }, word("panel.loading")));
    try {
      inside.replaceChildren(await load());
    } catch {
      isLoaded = false;
      inside.replaceChildren(element("p", { class: "note", role: "status" }, word("picture.failed")));
    }
  } }, element("summary", {}, title), inside);
  return made;
}

/**
 * The picture of what an answer stands on.
 * @param {Reference[]} items
 * @param {any} result
 * @param {string} project
 */
export function answerPicture(items, result, project) {
  return picturePlace(word("picture.answer"), async () => {
    const [{ graphOf }, { picture }] = await Promise.all([import("./answer_graph.js"), import("./picture.js")]);
    const { graph, missing } = await graphOf(items, result.trace?.communities ?? [], project);
    if (graph.things.length < 2) return element("p", { class: "facts" }, word(missing ? "picture.missing" : "picture.empty"));
    const made = element("div", {}, element("p", { class: "facts" }, word("picture.about")), await picture(graph, { hasList: true }));
    if (missing) made.append(element("p", { class: "facts" }, word("picture.missing")));
    return made;
  });
}
