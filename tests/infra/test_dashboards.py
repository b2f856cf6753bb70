"""The dashboard by Grafana's model of one, and the compose file that shows it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import yaml

from drift.local.cli.options import SERVE_PORT
from tests.infra.ways import ROOT

FOLDER = ROOT / "infra/grafana"
DASHBOARD = json.loads((FOLDER / "dashboards/drift.json").read_text())
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
SOURCE = {"type": "prometheus", "uid": "prometheus"}


def queries() -> Iterator[str]:
    """Give what the dashboard's panels ask Prometheus."""
    for panel in DASHBOARD["panels"]:
        yield from (target["expr"] for target in panel["targets"])


def test_the_dashboard_has_what_grafanas_model_asks_for() -> None:
    assert DASHBOARD["schemaVersion"] >= 36
    assert {"uid", "title", "time", "refresh"} <= set(DASHBOARD)
    panels = DASHBOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len({panel["title"] for panel in panels})
    places = {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels}
    assert places == {(n % 3 * 8, n // 3 * 8) for n in range(len(panels))}
    for panel in panels:
        assert (panel["gridPos"]["w"], panel["gridPos"]["h"]) == (8, 8)
        assert (panel["type"], panel["datasource"]) == ("timeseries", SOURCE)
        assert set(panel["fieldConfig"]) == {"defaults", "overrides"}
        assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"]) > 0
        assert all(target["datasource"] == SOURCE for target in panel["targets"])
        assert all(target["expr"] and target["legendFormat"] for target in panel["targets"])


def test_what_shows_it_is_asked_for_and_stays_on_loopback() -> None:
    shared = {name: one for name, one in COMPOSE.items() if one.get("network_mode") == "host"}
    assert set(shared) == {"prometheus", "grafana"}
    assert all(one["profiles"] == ["monitoring"] for one in shared.values())
    assert "--web.listen-address=127.0.0.1:19090" in shared["prometheus"]["command"]
    assert shared["grafana"]["environment"]["GF_SERVER_HTTP_ADDR"] == "127.0.0.1"
    mounts = [volume.split(":") for one in shared.values() for volume in one["volumes"]]
    assert all((ROOT / path).exists() and access == "ro" for path, _, access in mounts)
    [job] = yaml.safe_load((FOLDER / "prometheus.yml").read_text())["scrape_configs"]
    assert job["static_configs"] == [{"targets": [f"127.0.0.1:{SERVE_PORT}"]}]
    said = yaml.safe_load((FOLDER / "provisioning/datasources/prometheus.yml").read_text())
    [source] = said["datasources"]
    assert source.items() >= {**SOURCE, "url": "http://127.0.0.1:19090"}.items()
