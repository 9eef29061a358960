s/show(wrong);/show(memory.data());/
