s|incumbent = load_relaxed(out->best);|incumbent = 0u;|
