"""The best rule at a price: several variables, any target, a budget instead of ε."""
