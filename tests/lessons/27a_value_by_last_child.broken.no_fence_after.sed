/!= 1) return;/,/value = /s/__threadfence();//
