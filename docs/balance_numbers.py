"""The numbers and the picture of balancing, made from results/balance.json; for docs.numbers.

`python -m bench.balance -o results/balance.json` measures them again, and
`python -m docs.balance_numbers` draws docs/images/balance.png.
"""

from typing import Any

from docs.markdown import ROOT, percent, read, table
from unskew.audits.report import write_chart


def blocks() -> dict[str, str]:
    """Return the text of every block by name."""
    result = read("balance")
    return {"theory-balance": _reached(result), "theory-balance-speed": _speed(result)}


def _reached(result: dict[str, Any]) -> str:
    """Return what both rules reach for the same draws, and the bound that no rule can pass."""
    rows = [
        (f"`calculator/dcfg` by `{row['variable']}`, {row['draws']:g} draws: KL removed",
         f"{row['epsilon']:.1f} %", f"{row['budget']:.1f} %", f"{row['budget']:.1f} %")
        for row in result["one_variable"]
    ]  # fmt: skip
    rows += [
        (f"all five variables, {row['draws']:.0f} draws: KL left, in nats",
         "–", f"{row['left']:.3f}", f"{row['bound']:.3f}")
        for row in result["five_variables"]
    ]  # fmt: skip
    rows += [
        (f"all five variables, {row['draws']:.0f} draws: KL removed, mean",
         "–", f"{row['mean']:.1f} %", "")
        for row in result["five_variables"]
    ]  # fmt: skip
    gcd = result["gcd"]
    rows.append(
        (f"`reasoning-gym/gcd` by `answer`: draws for {gcd['kl']:.2f} nats",
         f"{gcd['epsilon']:.2f}", f"{gcd['budget']:.2f}", f"{gcd['budget']:.2f}")
    )  # fmt: skip
    rows += [
        (f"ten variables of 20 values ({percent(row['together'])} in common), each within "
         "0.02: draws", "–", f"{row['draws']:.1f}", f"{row['certainly_too_few']:.1f}")
        for row in result["ten_variables"]
    ]  # fmt: skip
    return table(("", "ε", "budget", "bound for any rule"), rows)


def _speed(result: dict[str, Any]) -> str:
    """Return what a rule costs in time."""
    deciding = [
        f"{row['deciding']:.0f} ns beside {row['drawing']:.0f} ns of drawing and "
        f"{row['measuring']:.0f} ns of measuring (`{row['source']}`)"
        for row in result["acceptance"]
    ]
    weights = result["weights"]
    rows = [
        ("deciding about a draw by five tables", "; ".join(deciding)),
        (f"weights of {weights['rows']:,} rows with five variables", f"{weights['seconds']:.1f} s"),
        (
            "the cheapest way to a closeness, ten variables of 20 values, 40,000 examples",
            f"{max(row['seconds'] for row in result['ten_variables']):.1f} s",
        ),
    ]
    return table(("", "one core"), rows)


def picture() -> dict[str, Any]:
    """Return the chart of the KL that both rules leave, by the draws for each kept example."""
    curve = read("balance")["curve"]
    names = {"epsilon": "the paper's rule", "budget": "the rule for a budget"}
    rows = [
        {"draws": point["draws"], "left": point[key], "rule": name}
        for point in curve["points"]
        for key, name in names.items()
    ]
    return {
        "title": {"text": f"calculator/dcfg by {curve['variable']}: what closeness costs"},
        "data": {"values": rows},
        "width": 480,
        "height": 260,
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": {"field": "draws", "type": "quantitative", "scale": {"type": "log"},
                  "title": "draws per kept example"},
            "y": {"field": "left", "type": "quantitative",
                  "title": "KL from uniform that is left, in nats"},
            "color": {"field": "rule", "type": "nominal", "title": None, "sort": None},
        },
    }  # fmt: skip


if __name__ == "__main__":
    write_chart(picture(), ROOT / "docs" / "images" / "balance.png")
