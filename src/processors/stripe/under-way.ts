/** Calls of one name that come while one is under way get its answer. */
export function openShared(): <T>(name: string, call: () => Promise<T>) => Promise<T> {
  const under = new Map<string, Promise<unknown>>();
  return <T>(name: string, call: () => Promise<T>): Promise<T> => {
    const shared = under.get(name);
    // A name stands for one kind of answer.
    if (shared !== undefined) return shared as Promise<T>;
    const made = call().finally(() => under.delete(name));
    under.set(name, made);
    return made;
  };
}
