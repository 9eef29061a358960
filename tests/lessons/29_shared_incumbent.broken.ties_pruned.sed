s/bound(p, k) < incumbent/bound(p, k) <= incumbent/
