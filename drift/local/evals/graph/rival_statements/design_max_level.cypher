MATCH (c:__Community__)-[:IN_PROJECT]->(:__Project__) RETURN max(c.level)
