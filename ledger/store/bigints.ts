/** The type of each connection of the store: an int8 is a bigint. */
export type Bigints = { bigint: bigint };
