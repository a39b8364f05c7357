/**
 * Whether a tenant may open one more of what its process has a number of: no tenant has more than
 * is still free, so that none of them fills it, nor do some of them together.
 */
export function hasRoom(
  { own, open }: { readonly own: number; readonly open: number },
  max: number,
): boolean {
  return own < max - open;
}
