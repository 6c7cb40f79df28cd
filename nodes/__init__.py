"""The steps, one file per node: async functions, state in, update out.

A node is thin: it fetches what it needs by id, calls one pure algorithm from `anabranch` or one model, and returns ids,
scores and short records. What ran, how long it took and what it cost is `nodes.support.tracing`'s business.
"""
