s/first.get(), ab, 'B'/second.get(), ab, 'B'/
