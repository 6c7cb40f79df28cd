"""Speed, cost and scale, measured from a checkout, beside peers: see README.md here."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
