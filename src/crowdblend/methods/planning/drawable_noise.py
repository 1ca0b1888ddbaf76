"""The losses of noise that can be drawn exactly, a range that mechanisms and facts share."""

from typing import Annotated

import msgspec

# Noise of a smaller loss cannot be drawn exactly.
Loss = Annotated[float, msgspec.Meta(ge=2.0**-40)]
