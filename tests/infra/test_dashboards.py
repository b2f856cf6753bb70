"""The dashboard by Grafana's model of one, and the compose file that shows it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import combinations

import yaml

from drift.local.cli.options import SERVE_PORT
from tests.infra.ways import ROOT

FOLDER = ROOT / "infra/grafana"
DASHBOARD = json.loads((FOLDER / "dashboards/drift.json").read_text())
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
PROMETHEUS = "127.0.0.1:19090"
SOURCE = {"type": "prometheus", "uid": "prometheus"}


def queries() -> Iterator[str]:
    """Give what the dashboard's panels ask Prometheus."""
    for panel in DASHBOARD["panels"]:
        yield from (target["expr"] for target in panel["targets"])


def test_the_dashboard_has_what_grafanas_model_asks_for() -> None:
    assert isinstance(DASHBOARD["schemaVersion"], int)
    assert DASHBOARD["schemaVersion"] >= 36
    assert DASHBOARD["uid"]
    assert DASHBOARD["title"]
    assert set(DASHBOARD["time"]) == {"from", "to"}
    panels = DASHBOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    for panel in panels:
        assert (panel["type"], panel["datasource"]) == ("timeseries", SOURCE)
        assert panel["title"]
        assert set(panel["fieldConfig"]) == {"defaults", "overrides"}
        assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"]) > 0
        for target in panel["targets"]:
            assert target["datasource"] == SOURCE
            assert target["expr"]
            assert target["legendFormat"]


def test_no_panel_covers_another_or_leaves_the_grid() -> None:
    places = [panel["gridPos"] for panel in DASHBOARD["panels"]]
    for place in places:
        assert set(place) == {"h", "w", "x", "y"}
        assert 0 <= place["x"] < place["x"] + place["w"] <= 24
    for one, other in combinations(places, 2):
        beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        assert beside or one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]


def test_what_shows_it_listens_on_loopback_and_comes_only_when_asked_for() -> None:
    shared = {name: one for name, one in COMPOSE.items() if one.get("network_mode") == "host"}
    assert set(shared) == {"prometheus", "grafana"}
    assert all(one["profiles"] == ["monitoring"] for one in shared.values())
    assert f"--web.listen-address={PROMETHEUS}" in shared["prometheus"]["command"]
    assert shared["grafana"]["environment"]["GF_SERVER_HTTP_ADDR"] == "127.0.0.1"
    for service in shared.values():
        for mounted in service["volumes"]:
            path, _, access = mounted.rpartition(":")
            assert access == "ro"
            assert (ROOT / path.partition(":")[0]).exists()


def test_grafana_reads_prometheus_and_prometheus_the_local_host() -> None:
    [job] = yaml.safe_load((FOLDER / "prometheus.yml").read_text())["scrape_configs"]
    assert job["static_configs"] == [{"targets": [f"127.0.0.1:{SERVE_PORT}"]}]
    provisioned = FOLDER / "provisioning"
    [source] = yaml.safe_load((provisioned / "datasources/prometheus.yml").read_text())[
        "datasources"
    ]
    assert {"type": source["type"], "uid": source["uid"]} == SOURCE
    assert source["url"] == f"http://{PROMETHEUS}"
    [provider] = yaml.safe_load((provisioned / "dashboards/drift.yml").read_text())["providers"]
    mounts = [volume.split(":")[:2] for volume in COMPOSE["grafana"]["volumes"]]
    assert ["./infra/grafana/dashboards", provider["options"]["path"]] in mounts
