// Lists: `await list` is its first page, `for await (const item of list)` runs over all pages.
//
// Holds: nothing is asked for before it is needed, and of a list one page at a time is in memory.
// The next page begins behind the last row, so that none is missed or repeated while rows are added
// in front.

export type Page<T> = {
  readonly data: T[];
  readonly limit: number;
  readonly offset: number;
  readonly hasMore: boolean;
};

export type PageParams = {
  readonly limit?: number;
  readonly offset?: number;
  readonly after?: string;
};

type Read<T> = (params: PageParams) => Promise<Page<T>>;

export class List<T extends { readonly id: string }> implements Promise<Page<T>>, AsyncIterable<T> {
  readonly [Symbol.toStringTag] = 'List';
  readonly #read: Read<T>;
  readonly #params: PageParams;
  #first: Promise<Page<T>> | undefined;

  constructor(read: Read<T>, params: PageParams) {
    this.#read = read;
    this.#params = params;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    let page = await this.#firstPage();
    for (;;) {
      yield* page.data;
      const last = page.data.at(-1);
      if (!page.hasMore || last === undefined) return;
      const { offset: _offset, ...params } = this.#params;
      page = await this.#read({ ...params, after: last.id });
    }
  }

  // oxlint-disable-next-line unicorn/no-thenable -- it is awaited for its first page
  then<A = Page<T>, B = never>(
    fulfilled?: ((page: Page<T>) => A | PromiseLike<A>) | null,
    rejected?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#firstPage().then(fulfilled, rejected);
  }

  catch<B = never>(
    rejected?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<Page<T> | B> {
    return this.#firstPage().catch(rejected);
  }

  finally(settled?: (() => void) | null): Promise<Page<T>> {
    return this.#firstPage().finally(settled);
  }

  #firstPage(): Promise<Page<T>> {
    return (this.#first ??= this.#read(this.#params));
  }
}
