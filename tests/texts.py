"""Small books that several tests search."""

LIGHTHOUSE = """\
The Lighthouse Keeper

by Ann Harbour

CHAPTER I. The Lamp

Old Tobias kept the lighthouse at Carrow Point for forty years. Every evening he climbed the two hundred steps, lit
the lamp and wound the great clock that turned it.

He ate his supper of bread and herring alone, and wrote the weather into his book.

CHAPTER II. The Storm

The storm of that November broke the clock. Tobias turned the lamp by hand until the morning, and no ship was lost.

CHAPTER III. The Niece

Tobias died in the spring. His niece Margaret came from the city and took the lamp, and she kept it until the war.
"""

KITCHEN = """\
A Book of Country Bread

by Peter Miller

CHAPTER I. Flour

Bread begins with flour. Rye makes a dark, sour loaf, and wheat a light one. Sift the flour twice before you weigh it.

CHAPTER II. The Oven

Heat the oven until a pinch of flour browns in a minute. A loaf of two pounds needs three quarters of an hour.
"""
