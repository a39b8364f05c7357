/** What every connection of the store is typed by: int8 comes and goes as bigint. */
export type Bigints = { bigint: bigint };
