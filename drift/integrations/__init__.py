"""Other programs ask here: agents, tools and frameworks, each in the shape that it speaks."""
