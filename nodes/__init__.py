"""The steps, one file per node: async functions, state in, update out.

A node is thin: it fetches what it needs by id, calls one pure algorithm from `anabranch` or one model, and returns ids,
scores and short records. What ran, how long it took and what it cost is `graph.step`'s business.
"""

if __name__ == "nodes":
    # From the repository's own folder: a second copy of every class, which the first does not know.
    raise ImportError("Import it as anabranch.agent.nodes.")
