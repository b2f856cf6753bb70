"""Regions of Azure, as they were when this was written."""

from __future__ import annotations

_REGIONS = """
australiacentral australiaeast australiasoutheast austriaeast belgiumcentral brazilsouth
canadacentral canadaeast centralindia centralus chilecentral eastasia eastus eastus2
francecentral germanywestcentral indonesiacentral israelcentral italynorth japaneast japanwest
koreacentral koreasouth malaysiawest mexicocentral newzealandnorth northcentralus northeurope
norwayeast polandcentral qatarcentral southafricanorth southcentralus southindia southeastasia
spaincentral swedencentral switzerlandnorth uaenorth uksouth ukwest westcentralus westeurope
westindia westus westus2 westus3
"""
REGIONS = frozenset(_REGIONS.split())
"""Public regions; one that is not among them is a note, and a misspelt one a problem."""

_DATA_ZONES = """
austriaeast belgiumcentral francecentral germanywestcentral italynorth northeurope polandcentral
spaincentral swedencentral westeurope centralus eastus eastus2 northcentralus southcentralus
westcentralus westus westus2 westus3
"""
DATA_ZONES = frozenset(_DATA_ZONES.split())
"""Regions inside the EU or the US."""
