"""Prices for a small shop, with mistakes on purpose.

To have them found: bench ask core -f examples/pricing.py
"""

import json
import time

TAX = {"books": 0.07, "food": 0.07, "tools": 0.19, "books": 0.05}


def add_item(name, price, amount=1, basket=[]):
    """Put an item into a basket and return the basket."""
    basket.append({"name": name, "price": price, "amount": amount})
    return basket


def load_prices(path):
    """Read the price list, a JSON object of names and prices."""
    prices = json.load(open(path))
    return {name.lower(): float(price) for name, price in prices.items()}


def discount(customer):
    """The share a customer saves."""
    if customer == "staff" or "family":
        return 0.3
    if customer == "regular":
        return 0.1


def remove_free(basket):
    """Drop the items that cost nothing."""
    for item in basket:
        if item["price"] == 0:
            basket.remove(item)
    return basket


def total(basket, customer=None):
    """What a basket costs, in euros."""
    started = time.time()
    amount = 0
    for item in basket:
        try:
            amount += item["price"] * item["amount"]
        except:
            continue
    if customer != None:
        amount -= amount * discount(customer)
    print("total took %d ms for %s" % (time.time() - started))
    return round(amount, 2)


# ruff: noqa: B006, E711, E722, F601, RET503, SIM115, SIM222, UP031
