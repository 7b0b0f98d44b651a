"""The families as Prometheus' text (exposition format 0.0.4, prometheus.io/docs/instrumenting/
exposition_formats): `bench.cost` in USD is `bench_cost_usd_total`."""

from collections.abc import Iterable

from metrics.telemetry.meter import Family, Histogram, Labels

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
UNITS = {"{USD}": "_usd"}  # the unit is part of a name; calls and tokens are their own
_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})


def text(families: Iterable[Family], durations: Iterable[tuple[Labels, Histogram]], version: str) -> bytes:
    """The whole page."""
    lines = ["# HELP bench_build_info The version that runs.", "# TYPE bench_build_info gauge"]
    lines.append(f"bench_build_info{_labels((('version', version),))} 1")
    for family in families:
        lines += _family(family)
    lines += _histogram(
        "bench_call_duration_seconds", "How long calls took, since this server began.", durations
    )
    return ("\n".join(lines) + "\n").encode("utf-8", "replace")


def _family(family: Family) -> list[str]:
    name = _name(family.name) + UNITS.get(family.unit, "") + ("_total" if family.monotonic else "")
    kind = "counter" if family.monotonic else "gauge"
    lines = [f"# HELP {name} {_help(family.about)}", f"# TYPE {name} {kind}"]
    return lines + [f"{name}{_labels(labels)} {_number(value)}" for labels, value in family.rows]


def _histogram(name: str, about: str, rows: Iterable[tuple[Labels, Histogram]]) -> list[str]:
    lines = [f"# HELP {name} {_help(about)}", f"# TYPE {name} histogram"]
    for labels, each in rows:
        below = 0
        for bound, count in zip((*each.bounds, None), each.counts, strict=True):
            below += count
            upto = "+Inf" if bound is None else _number(bound)
            lines.append(f"{name}_bucket{_labels((*labels, ('le', upto)))} {below}")
        lines.append(f"{name}_sum{_labels(labels)} {_number(each.sum)}")
        lines.append(f"{name}_count{_labels(labels)} {each.count}")
    return lines


def _labels(labels: Labels) -> str:
    return "{" + ",".join(f'{_name(name)}="{value.translate(_ESCAPES)}"' for name, value in labels) + "}"


def _name(dotted: str) -> str:
    return dotted.replace(".", "_")


def _help(about: str) -> str:
    return about.replace("\\", r"\\").replace("\n", r"\n")


def _number(value: int | float) -> str:
    return repr(value)
