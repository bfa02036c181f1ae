/** What of one kind is not as it was, counted, and the first of it. */
export interface Finding {
  count: number;
  readonly first: string;
  /** Why, in the words of an error. */
  readonly reason: string;
}

/** What a migration finds out about objects. */
export class Findings {
  /** Objects by class. */
  readonly records = new Map<string, number>();
  /** Of these, those that were here already. */
  readonly there = new Map<string, number>();
  /** Members of Relations. */
  members = 0;
  /** Users whose password is kept, and whose password cannot be. */
  passwords = 0;
  readonly withoutPassword = new Problems();
  /** Users who sign in by other services. */
  authData = 0;
  /** Users whose name or address an earlier one has. */
  sharedNames = 0;
  /** Values that cannot be kept, by field. */
  readonly values = new Problems();
  /** Objects that cannot be kept. */
  readonly refused = new Problems();
  /** ACLs that open an object to nobody. */
  closed = 0;
  readonly files = { named: 0, brought: 0, renamed: 0, missing: new Problems() };

  /** Whether anything was lost that could be there. */
  get hasLosses(): boolean {
    return (
      [this.withoutPassword, this.values, this.refused, this.files.missing].some((problems) => problems.size > 0) ||
      this.sharedNames > 0
    );
  }
}

/** Of each kind how often, and where first: a source may have any number of them. */
export class Problems {
  readonly #found = new Map<string, Finding>();

  get size(): number {
    return this.#found.size;
  }

  note(what: string, objectId: string, reason: string): void {
    const known = this.#found.get(what);
    if (known) known.count++;
    else this.#found.set(what, { count: 1, first: objectId, reason });
  }

  entries(): Iterable<[string, Finding]> {
    return this.#found;
  }
}
