#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Writes vectors.json: values by SciPy and statsmodels for tests/bench_stats.rs.

    pip install scipy statsmodels && tests/bench_stats/vectors.py
"""

import json
import pathlib

import numpy
import scipy
import statsmodels
from scipy import stats
from statsmodels.stats.multitest import multipletests

rng = numpy.random.default_rng(20160501)


def samples():
    for n in (2, 3, 7, 10, 24, 25, 60):
        yield "normal", rng.normal(100, 5, n)
        yield "lognormal", rng.lognormal(2, 1, n)
        # Few digits: ties, and zeros among the differences.
        yield "coarse", numpy.round(rng.normal(20, 3, n))


def quantiles(kind, x):
    percents = [0, 1, 25, 50, 90, 99, 99.9, 100]
    return {
        "kind": kind,
        "values": x.tolist(),
        "median": float(numpy.median(x)),
        "mean": float(numpy.mean(x)),
        "deviation": float(numpy.std(x, ddof=1)),
        "percents": percents,
        "percentiles": [float(numpy.percentile(x, p)) for p in percents],
    }


def pairs():
    for n in (6, 9, 12, 20, 24, 40):
        for shift in (0.0, 0.02, 0.1):
            common = rng.normal(0, 0.1, n)
            base = 100 * numpy.exp(common + rng.normal(0, 0.02, n))
            other = 100 * numpy.exp(common + shift + rng.standard_t(3, n) * 0.02)
            yield base, other


def signed_rank(base, other):
    d = numpy.log(other) - numpy.log(base)
    p = stats.wilcoxon(d, method="exact").pvalue
    return {"base": base.tolist(), "other": other.tolist(), "p": float(p)}


def tied_rank(n):
    d = numpy.round(rng.normal(0.7, 2, n))
    d = d[d != 0]
    every_sign = stats.PermutationMethod(n_resamples=numpy.inf)
    return {"differences": d.tolist(), "p": float(stats.wilcoxon(d, method=every_sign).pvalue)}


def interval(base, other):
    def ends(level):
        ci = stats.bootstrap(
            (other / base,), numpy.median, vectorized=True, method="percentile",
            confidence_level=level, n_resamples=50_000, rng=numpy.random.default_rng(1),
        ).confidence_interval
        return [float(ci.low), float(ci.high)]

    # Fewer draws give the ends of a level somewhat beside it: within these.
    return {"base": base.tolist(), "other": other.tolist(), "level_93": ends(0.93), "level_97": ends(0.97)}


def holm(n):
    p = rng.beta(0.3, 3, n)
    return {"p": p.tolist(), "adjusted": multipletests(p, method="holm")[1].tolist()}


def rank_sum(n, m, shift, digits):
    a, b = rng.normal(20, 3, n).round(digits), rng.normal(20 + shift, 3, m).round(digits)
    if len(set(a) | set(b)) == n + m:
        p = stats.mannwhitneyu(a, b, method="exact").pvalue
    else:
        every_choice = stats.PermutationMethod(n_resamples=numpy.inf)
        p = stats.mannwhitneyu(a, b, method=every_choice).pvalue
    return {"a": a.tolist(), "b": b.tolist(), "p": float(p)}


vectors = {
    "by": {"scipy": scipy.__version__, "numpy": numpy.__version__, "statsmodels": statsmodels.__version__},
    "quantiles": [quantiles(*s) for s in samples()],
    "signed_rank": [signed_rank(*p) for p in pairs()],
    "tied_rank": [tied_rank(n) for n in (6, 10, 14, 16)],
    "intervals": [interval(*p) for p in pairs()],
    "holm": [holm(n) for n in (1, 2, 5, 20)],
    # Few digits, and so ties, only where every choice can be tried.
    "rank_sum": [rank_sum(*s) for s in ((3, 3, 0, 9), (8, 12, 2, 9), (32, 32, 1, 9), (40, 25, 3, 9), (6, 7, 3, 0), (8, 8, 1, 0))],
}
out = pathlib.Path(__file__).with_name("vectors.json")
out.write_text(json.dumps(vectors, separators=(",", ":")).replace('],"', '],\n"') + "\n")
