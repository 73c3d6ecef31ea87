/* A provider is not declared in a script. */

provider x { probe y(); };
BEGIN {  }
