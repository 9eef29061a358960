s/texture_in_parent = before;/texture_in_parent = tex1Dfetch<int>(texels, 0);/
