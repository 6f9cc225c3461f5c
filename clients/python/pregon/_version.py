"""The version of the package. It is the one place that states it."""

VERSION = "0.1.0"
