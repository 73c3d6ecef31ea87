/* -l without a target: what every target has. */
/* flags: -l */



/* expect:    ID   PROVIDER            MODULE                          FUNCTION NAME */
/* expect:     1     dtrace                                                     BEGIN */
/* expect:     2     dtrace                                                     END */
/* expect:     3     dtrace                                                     ERROR */
