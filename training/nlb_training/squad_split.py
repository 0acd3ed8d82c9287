"""Which of SQuAD's development articles are trained on, and which are only measured with."""

HELD_ARTICLES = frozenset(
    {
        "1973_oil_crisis",
        "French_and_Indian_War",
        "Jacksonville,_Florida",
        "Newcastle_upon_Tyne",
        "Prime_number",
        "Private_school",
    }
)
"""Never trained on: the six articles with the smallest SHA-256 of their title, of 48."""
