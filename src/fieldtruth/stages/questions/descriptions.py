"""Looks that are told from most others at sight, for sets whose experts described too few.

In our own words, short and long, each of a thing that a photo either shows plainly or does not.
They come after what experts said of other plants, and are held to the same rules.
"""

LOOKS = (
    "A coating of sooty black on twigs and fruit that rubs off with a finger.",
    "A fan of white threads under loose bark at the base of the trunk.",
    "A water-soaked collar where the stem meets the ground.",
    "Bark that is shredded in strips low on the stem.",
    "Black, brittle swellings all around a twig.",
    "Blossoms that hang brown and limp, as if scorched.",
    "Bronzed foliage with fine stippling and delicate webs between the tips.",
    "Bright orange horns, soft as jelly, on small round galls.",
    "Brown, papery blotches, each between two veins, with the dark droppings still inside.",
    "Clear, sticky drops all over the underside, and ants that run along the stems.",
    "Clusters of white, cottony tufts in the forks of the stems.",
    "Cone-shaped, spiny galls on the upper sides.",
    "Corky, raised scabs over the skin, some of them cracked open.",
    "Cracks that run around the shoulder of the fruit in rings.",
    "Fine, winding, pale tunnels just under the surface.",
    "Gray, fuzzy growth on petals and on soft fruit.",
    "Half circles cut cleanly out of the margins.",
    "Hard, brown, limpet-like bumps along the twigs.",
    "Leathery, sunken, dark ends on the fruit, away from the stalk.",
    "Needles that are reddish from the tip downward, with tiny black dots in rows.",
    "New growth that is bunched like a broom, with many thin shoots from one point.",
    "Orange, dusty pustules on the undersides, with yellow flecks above them.",
    "Pale, netted foliage, eaten down to a lace.",
    "Pinholes in neat rows across the bark, and no sawdust.",
    "Pink, swollen, puckered blisters on the youngest foliage.",
    "Rows of round holes drilled straight through the wood, with sawdust below.",
    "Shoot tips that are bent over like a shepherd's crook and blackened.",
    "Silken tents in the crotches of the branches.",
    "Stems hollowed out, with moist, yellow pellets at the entrance.",
    "Target-like, brown rings, one within the other, on the lower foliage first.",
    "Thick, angular, warty knobs on the roots.",
    "Toadstools in a wide ring, with darker green inside it.",
    "White, mealy dust that covers both sides and the young shoots.",
    "Whole fans of branches that are straw-colored on one side only.",
    "Yellow flecks that run together to a mosaic of light and dark green.",
)
