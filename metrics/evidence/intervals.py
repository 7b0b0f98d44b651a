"""How sure a rate is: the range that the true rate lies in, nineteen times in twenty, given so many tries;
and how sure a count is."""

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


def poisson(count: int, z: float = Z95) -> tuple[float, float]:
    """The range that a count of things that happen on their own would lie in, were it counted again: Byar's
    approximation of the exact Poisson limits.

    N. E. Breslow, N. E. Day, "Statistical Methods in Cancer Research", vol. 2 (1987), section 2.3.
    """
    if count <= 0:
        return 0.0, 3.69  # the exact upper limit of none
    above = count + 1
    low = count * (1 - 1 / (9 * count) - z / (3 * sqrt(count))) ** 3
    return max(0.0, low), above * (1 - 1 / (9 * above) + z / (3 * sqrt(above))) ** 3
