"""Fieldtruth: from labelled plant photos to frozen benchmarks and numbers that hold."""

__version__ = "0.1.0"
