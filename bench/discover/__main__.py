"""Plants skews in data of six types, and counts how many of them `unskew.discover` finds.

python -m bench.discover --split dev -o results/discover.json
"""

from __future__ import annotations

from bench.discover.kinds import SPLITS, TYPES
from bench.discover.run import missed, run
from bench.discover.settings import N, settings
from bench.discover.summary import lines, summary
from bench.results import options, save

SECONDS = 120.0


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--split", choices=SPLITS, default="dev", help="the kinds to plant")
    parser.add_argument("--only", choices=TYPES, help="one type of data")
    parser.add_argument("--match", default="", help="settings with this text in their name")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the rows")
    parser.add_argument("-n", type=int, default=N, help="rows of each setting")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="the limit of a setting")
    parser.add_argument(
        "--function", default="unskew:discover", help="what is judged: a module, a colon, a name"
    )
    chosen = parser.parse_args()
    wanted = [s for s in settings(chosen.split, chosen.only) if chosen.match in s.name]
    results = []
    for facts in run(wanted, chosen.n, chosen.seed, chosen.seconds, chosen.function):
        results.append(facts)
        text = missed(facts)
        if text and chosen.split == "dev":
            print(text, flush=True)
    figures = summary(results)
    for line in lines(figures):
        print(line)
    facts = {
        "bench": "discover",
        "split": chosen.split,
        "n": chosen.n,
        "seed": chosen.seed,
        "figures": figures,
    }
    if chosen.split == "dev":  # what is held out is not shown
        facts["results"] = results
    save(chosen.output, facts)


if __name__ == "__main__":
    main()
