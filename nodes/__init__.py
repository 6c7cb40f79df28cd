"""The steps, one file per node: async functions, state in, update out.

A node is thin: it fetches what it needs by id, calls one pure algorithm from `anabranch` or one model, and returns ids,
scores and short records. `graph.step` measures its time and its costs.
"""

if __name__ == "nodes":
    # Imported from the repository's folder, it would make a second copy of every class.
    raise ImportError("Import it as anabranch.agent.nodes.")
