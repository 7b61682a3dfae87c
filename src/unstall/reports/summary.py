"""Where a training's time went, in a few lines for people."""

from __future__ import annotations

from unstall.evidence import loading
from unstall.evidence.timings import Timings
from unstall.reports.screen import clean

WORTH_SAYING_S = 5.0
ENOUGH_BATCHES = 20
_BAR = 24


def is_worth_saying(timings: Timings) -> bool:
    """Whether the training lasted long enough for its shares to mean something."""
    return timings.total.span_s >= WORTH_SAYING_S and timings.total.delivered > 0


def render(timings: Timings, *, advice: bool = True) -> str:
    """The shares of the time, the lines that cost most, and (where it was not stuck) what to change first."""
    times = timings.total
    parts = {
        "waited for data": times.waited_s,
        "trained": times.trained_s,
        "validated": times.validated_s,
        "saved checkpoints": times.saved_s,
        "started workers": times.startup_s if timings.workers else 0.0,
    }
    parts["trained"] = max(0.0, parts["trained"] - parts["saved checkpoints"] - parts["started workers"])
    text = [f"unstall: {_duration(times.span_s)} of training, {times.delivered:,} batches, {times.steps:,} steps"]
    parts["other things"] = max(0.0, times.span_s - sum(parts.values()))
    for name, seconds in parts.items():
        share = min(1.0, seconds / times.span_s)
        if share >= 0.005:
            text.append(f"  {name:18} {share:4.0%}  {'▇' * round(share * _BAR)}")
    text += [f"  making samples: {line}" for line in _costs(timings)]
    if advice and (first := _advice(timings)):
        text.append(f"  change first: {first}")
    return "\n".join(text) + "\n"


def status(timings: Timings) -> str:
    """One line while it runs."""
    times = timings.recent
    rate = times.delivered / times.span_s if times.span_s else 0.0
    return f"{timings.total.delivered:,} batches, {rate:.3g}/s, waits for data {times.waiting:.0%} ({timings.phase})"


def _costs(timings: Timings) -> list[str]:
    costly = sorted((one for one in timings.lines if one.own >= 0.1), key=lambda one: -one.own)
    return [
        f"{one.own:.0%} at {clean(one.file.rsplit('/', 1)[-1])}:{one.line} {clean(one.function)}" for one in costly[:3]
    ]


def _advice(timings: Timings) -> str:
    times = timings.total
    if min(times.waiting, timings.recent.waiting) < 0.2 or times.delivered < ENOUGH_BATCHES:
        return ""  # it waits for little, or waited once
    gain = f"at most {1 / max(0.02, 1 - times.waiting):.1f} times as fast" if times.waiting < 0.98 else "much faster"
    hottest = loading.hottest(timings)
    if times.computing < 0.5:
        more = "more workers, or faster storage: making samples is mostly waiting"
    elif timings.workers < timings.cores:
        more = f"num_workers={timings.cores} (now {timings.workers})"
    elif hottest:
        more = f"make {clean(hottest[0].file.rsplit('/', 1)[-1])}:{hottest[0].line} cheaper"
    else:
        more = "make samples cheaper"
    return f"{more}; {gain}"


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"
    return f"{seconds // 3600:.0f} h {seconds % 3600 // 60:.0f} min"
