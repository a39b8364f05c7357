/** What pays for usage of a member of a pool (`pool.ts`). */
export type PaidBy = {
  /** Of the member's own grants, scaled as the member. */
  readonly own: bigint;
  /** Of the pool, scaled as `pool`. */
  readonly credits: bigint;
  readonly pool: { readonly slug: string; readonly scale: number };
};
