#include <stdio.h>

#include <kaisched/kaisched.h>

int main(void) { return printf("kaisched %s\n", kaisched_version_string()) < 0; }
