/** Of the package `tollhouse`, not of the service. */
export const VERSION = '0.1.0';
