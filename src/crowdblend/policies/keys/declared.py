"""Every key of a policy, declared once: the reader, the JSON schema and the messages all come from here."""

from __future__ import annotations

from crowdblend.planning.networks.question import NAMES
from crowdblend.policies.keys.read import Key
from crowdblend.recoding.dates import PERIODS
from crowdblend.selection.scores import SCORES

_BIASED = "Biased sampling: "
# Kinds for which exactly so many of so many people are drawn.
_EXACTLY = ("statistics", "synopsis")
# Kinds that show crowds of at least k people.
_CROWDS = ("table", "microdata", "points")
DATA = (
    Key(
        "source",
        "text",
        "CSV or Parquet file, folder or glob, DuckDB file, postgresql:// address, or - for stdin.",
        required=True,
    ),
    Key("population", "text", "Your name for the people, under which the ledger adds up what was promised about them."),
    Key("person", "text", "The column that tells people apart: the unit of protection, one row per person."),
    Key("rows_are_people", "flag", "True instead of person: you vouch that every row is another person."),
    Key("format", "text", "What the source is, when its name does not say.", ("csv", "parquet", "duckdb", "postgres")),
    Key("table", "text", "The table in a DuckDB or PostgreSQL database."),
    Key("delimiter", "text", "The character between the fields of a CSV file."),
    Key("people", "whole", "How many people the data hold; this number is public.", kinds=_EXACTLY),
    Key("duplicates", "text", "What to do when a person has several rows.", ("refuse", "one")),
)
SAMPLING = (
    Key("rate", "number", "The share of people kept.", ranged=True),
    Key("already_drawn", "flag", "True when the table is itself the sample and the rate is your assumption."),
    Key("low", "number", _BIASED + "the smallest probability of the people who can be sampled.", ranged=True),
    Key("high", "number", _BIASED + "the largest ordinary probability.", ranged=True),
    Key("exceptions", "whole", _BIASED + "how many people may have any probability.", ranged=True),
    Key("max_rate", "number", _BIASED + "the largest probability of anybody protected.", ranged=True),
    Key("sample", "whole", "How many random people the promise is relative to, or are drawn.", kinds=_EXACTLY),
    Key("key", "text", "What happens to the secret key of the sample.", ("destroy", "seal")),
)
KINDS = ("table", "microdata", "points", "outlier-table", "statistics", "synopsis", "graph")
RELEASE = (
    Key("kind", "text", "What is published.", KINDS, required=True),
    Key("below_k", "text", "What happens to classes below k.", ("suppress", "noise"), kinds=_CROWDS),
    Key(
        "k",
        "whole",
        "The crowd size, the person included; leave it out to have it planned.",
        ranged=True,
        kinds=_CROWDS,
    ),
    Key("epsilon", "number", "The privacy loss; leave it out to have it planned.", ranged=True),
    Key(
        "delta",
        "number",
        "The probability beyond epsilon; leave it out to have it planned.",
        ranged=True,
        kinds=(*_CROWDS, "outlier-table"),
    ),
    Key("flag", "flag", "Say which cells are exact; needs a larger k.", kinds=("table",)),
    Key(
        "noise_epsilon",
        "number",
        "The privacy loss of the noise below k, or on points, before sampling.",
        ranged=True,
        kinds=("table", "points"),
    ),
    Key(
        "show_from",
        "whole",
        "With noise: the smallest value that is shown; cells not shown read as 0.",
        kinds=("table", "outlier-table"),
    ),
    Key("confidence", "number", "How surely the stated error is kept to; 0.95 unless given.", kinds=_EXACTLY),
    Key("group", "whole", "Promise for this many people together as well.", kinds=("statistics",)),
    Key("format", "text", "The format of the published data.", ("parquet", "csv")),
    Key("memory", "text", 'The memory that the engine may use, such as "1GB"; it spills to disk beyond.'),
    Key("threads", "whole", "How many threads the engine may use."),
)
RECODING = (
    Key("epsilon", "number", "The part of the release's epsilon that the choice may use.", required=True, ranged=True),
    Key(
        "using",
        "text",
        "Who decides: the whole population, or a part of the sample that is not published.",
        ("population", "split"),
        required=True,
    ),
    Key("share", "number", "With split: the share of the sample that decides; 0.1 unless given.", ranged=True),
    Key("score", "text", "What a good recoding is.", SCORES),
    Key("search", "text", "Score all recodings at once, or choose column after column in steps.", ("whole", "steps")),
    Key("steps", "whole", "With steps: among how many choices epsilon is divided; each column has one.", ranged=True),
    Key("show_epsilon", "number", "A further part of epsilon, to show noisy scores around the choice.", ranged=True),
)
TABLES = (
    Key("name", "text", "The table's name, also its file name.", required=True),
    Key("columns", "texts", "The columns of the table, all named in [columns].", required=True),
)
STATISTICS = (
    Key("name", "text", "The statistic's name in the published data.", required=True),
    Key("average", "text", "The average of a column of numbers between two bounds."),
    Key("fraction", "where", 'The share of people with these labels, for example { sex = "Female" }.'),
    Key("count", "where", "How many people have these labels."),
    Key("histogram", "text", "How many people have each label of a column."),
    Key("where", "where", "With histogram: count only people with these labels."),
    Key("weight", "number", "How much of epsilon the statistic gets, relative to the others; 1 unless given."),
)
SYNOPSIS = (
    Key("conjunctions", "whole", "Answer all conjunctions of up to this many columns."),
    Key("ranges", "text", "Answer all ranges of this column, in the order of its classes."),
    Key("half_planes", "texts", "Answer all half-planes over the grid of these two columns."),
    Key("queries", "conditions", "Answer these conjunctions, each a table of columns with their labels."),
    Key("rows", "whole", "How many synthetic rows; as many as people are drawn unless given.", ranged=True),
    Key("mechanism", "text", "How the rows are made; the better one unless given.", ("fitted", "exponential")),
)
POINTS = (
    Key("keep_in", "text", "What noisy points are kept in; none unless given.", ("none", "bounds", "block")),
    Key("show_blocks", "flag", "Publish the number of every point's block, in a column of its own."),
)
BOXES = (
    Key("name", "text", "Your name for the box.", required=True),
    Key("box", "ends", "The lower and the upper end on every axis, as in { x = [0, 1], y = [0, 2] }.", required=True),
)
QUADTREE = (
    Key("box", "ends", "The lower and the upper end on every axis of a region to be halved further.", required=True),
    Key("depth", "whole", "How often the domain is halved where it meets the region.", required=True),
)
OUTLIERS = (
    Key("limit", "whole", "K: a bin of that size would need no noise beyond epsilon's.", required=True, ranged=True),
    Key("transition", "whole", "t: noise is constant from K - t people on; planned unless given.", ranged=True),
    Key("factor", "number", "c: the promise to crowds of j is c times epsilon(j); 2 unless given.", ranged=True),
)
GRAPH = (
    Key(
        "people",
        "whole",
        "How many people there are, those without links included; public.",
        required=True,
        ranged=True,
    ),
    Key(
        "degree_bound",
        "whole",
        "The most links that anybody can have, known beforehand; public.",
        required=True,
        ranged=True,
    ),
    Key(
        "average_bound",
        "number",
        "The most links that people can have on average; degree_bound unless given.",
        ranged=True,
    ),
    Key("source", "text", 'The column with one end of every link; "source" unless given.'),
    Key("target", "text", 'The column with the other end; "target" unless given.'),
    Key("vertices", "text", "CSV or Parquet file with a row for everybody; needed for statistics of their data."),
    Key("vertex", "text", 'The column of that file that names people as the links do; "id" unless given.'),
    Key("self_loops", "text", "What to do with links of a person to itself.", ("refuse", "drop")),
    Key("duplicates", "text", "What to do with links that are listed twice, in either direction.", ("refuse", "drop")),
)
GRAPH_STATISTICS = (
    Key("name", "text", "The statistic.", NAMES, required=True),
    Key(
        "epsilon",
        "number",
        "Its privacy loss; an equal part of what is left of the release's unless given.",
        ranged=True,
    ),
    Key("samples", "whole", "How many random people the promise is relative to.", ranged=True),
    Key("error", "number", "The error to keep to, at 95 % confidence; instead of samples or epsilon."),
    Key("explored", "whole", "How many people may be reached from each of them; planned unless given.", ranged=True),
    Key("accuracy", "number", "In the paper's terms: δ, what the sampler may err by; below 1/2.", ranged=True),
    Key("failure_exponent", "number", "In the paper's terms: K; the sampler fails with probability e^-K.", ranged=True),
    Key(
        "resolution", "number", "The step of the grid that published numbers lie on; planned unless given.", ranged=True
    ),
    Key("column", "text", "For average and histogram: the column of the vertices."),
    Key("from", "number", "For average: the smallest possible value."),
    Key("to", "number", "For average: the largest possible value."),
    Key("values", "texts", "For histogram: the classes."),
    Key("other", "text", "For histogram: the class of every other value."),
)
SECTIONS: dict[str, tuple[Key, ...]] = {
    "data": DATA,
    "sampling": SAMPLING,
    "release": RELEASE,
    "recoding": RECODING,
    "synopsis": SYNOPSIS,
    "points": POINTS,
    "outliers": OUTLIERS,
}
LISTS = {"tables": TABLES, "boxes": BOXES, "quadtree": QUADTREE, "statistics": STATISTICS}
PARTS = (*SECTIONS, "graph", "columns", *LISTS)
# Parts that say something about some kinds only; elsewhere they would be ignored, and are refused instead.
PARTS_OF = {
    "tables": ("table",),
    "recoding": ("table", "microdata"),
    "points": ("points",),
    "boxes": ("points",),
    "quadtree": ("points",),
    "outliers": ("outlier-table",),
    "statistics": ("statistics",),
    "synopsis": ("synopsis",),
    "graph": ("graph",),
}

_OTHER = Key("other", "text", "The class of every value outside the domain.")
_MISSING = Key("missing", "text", "The class of NULL and empty values.")
_WEIGHT = Key("weight", "number", "How much the column matters when the recoding is chosen; 1 unless given.")
_CODING = (
    Key("bottom", "flag", 'Give values below the domain the class "< first".'),
    Key("top", "flag", 'Give values above the domain the class "≥ last".'),
)
_INCLUDE = Key("include_to", "flag", "Count the value of to into the last class.")
AXIS = (
    Key("from", "number", "The lower bound, included.", required=True),
    Key("to", "number", "The upper bound, included.", required=True),
    Key("resolution", "number", "The steps to which coordinates are rounded before noise is added.", required=True),
    Key("width", "number", "The width of the blocks, a whole number of resolutions; not with boxes or a quadtree."),
    Key("outside", "text", "What happens to people without a place in the bounds.", ("refuse", "drop")),
)
COLUMN_KINDS: dict[str, tuple[Key, ...]] = {
    "values": (Key("values", "texts", "The values, kept as they are.", required=True), _OTHER, _MISSING),
    "width": (
        Key("from", "number", "The lower end, included.", required=True),
        Key("to", "number", "The upper end, excluded unless include_to is true.", required=True),
        Key("width", "widths", "The width of every interval, or several to choose from, finest first.", required=True),
        _INCLUDE,
        *_CODING,
        _OTHER,
        _MISSING,
        _WEIGHT,
    ),
    "breaks": (Key("breaks", "numbers", "The rising ends of the classes.", required=True), *_CODING, _OTHER, _MISSING),
    "prefix": (Key("prefix", "whole", "How many characters to keep.", required=True), _MISSING),
    "date": (
        Key("date", "text", "The period to cut to.", PERIODS, required=True),
        Key("from", "day", "The first day."),
        Key("to", "day", "The last day, excluded unless include_to is true."),
        _INCLUDE,
        _OTHER,
        _MISSING,
    ),
    "hierarchy": (
        Key(
            "hierarchy",
            "text",
            "A file: one value a line, then its group at each level, with ';' between.",
            required=True,
        ),
        Key("level", "level", 'The level to publish; 0 keeps the values themselves, "choose" offers all levels.'),
        Key("levels", "wholes", "The levels to choose from, finest first."),
        _OTHER,
        _MISSING,
        _WEIGHT,
    ),
    "resolution": (
        Key("from", "number", "The lower bound, included.", required=True),
        Key("to", "number", "The upper bound, included.", required=True),
        Key("resolution", "number", "Values are rounded to whole multiples of this, counted from from.", required=True),
        Key("outside", "text", "What happens to values beyond the bounds.", ("refuse", "clamp")),
        Key("blank", "number", "The value that NULL and empty values count as."),
    ),
}
