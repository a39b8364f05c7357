/** The advisory lock of whoever moves or drops usage, or must find it where it is. */
export const RETENTION_LOCK = 7_206_520;
