"""How sure a rate is: the range that the true rate lies in, nineteen times in twenty, given so many tries."""

from math import sqrt

Z95 = 1.959963984540054  # standard deviations to either side that hold 95 % of a normal distribution


def wilson(useful: int, judged: int, z: float = Z95) -> tuple[float, float]:
    """The Wilson score interval of `useful` out of `judged`, as fractions; (0, 1) when nothing is judged.

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927).
    """
    if judged <= 0:
        return 0.0, 1.0
    rate = useful / judged
    spread = z * sqrt(rate * (1 - rate) / judged + z * z / (4 * judged * judged))
    middle = rate + z * z / (2 * judged)
    scale = 1 + z * z / judged
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)
