"""Everything that no request runs through: writing graphs, local servers, measurements, commands.

Never deployed.
"""

from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
"""The folder of this project: a clone, with function_app.py in it."""
