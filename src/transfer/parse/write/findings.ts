/** Number of problems of one kind, with the first occurrence. */
export interface Finding {
  count: number;
  readonly first: string;
  /** Error message. */
  readonly reason: string;
}

/** Facts about objects collected during a migration. */
export class Findings {
  /** Number of objects by class. */
  readonly records = new Map<string, number>();
  /** Number of these that existed before. */
  readonly present = new Map<string, number>();
  /** Number of members of Relations. */
  members = 0;
  /** Number of users with a usable password; the others are in `withoutPassword`. */
  passwords = 0;
  readonly withoutPassword = new Problems();
  /** Number of users who sign in through other services. */
  authData = 0;
  /** Number of users whose login name or address an earlier user has. */
  sharedNames = 0;
  /** Values that cannot be stored, by field. */
  readonly values = new Problems();
  /** Objects that cannot be stored. */
  readonly refused = new Problems();
  /** Number of ACLs that grant nobody access. */
  closed = 0;
  readonly files = { named: 0, copied: 0, renamed: 0, missing: new Problems() };

  /** Whether anything was lost. */
  get hasLosses(): boolean {
    return (
      [this.withoutPassword, this.values, this.refused, this.files.missing].some((problems) => problems.size > 0) ||
      this.sharedNames > 0
    );
  }
}

/** Problems by kind. Only the number and the first occurrence are kept, since there may be any number of them. */
export class Problems {
  readonly #found = new Map<string, Finding>();

  get size(): number {
    return this.#found.size;
  }

  add(what: string, objectId: string, reason: string): void {
    const known = this.#found.get(what);
    if (known) known.count++;
    else this.#found.set(what, { count: 1, first: objectId, reason });
  }

  entries(): Iterable<[string, Finding]> {
    return this.#found;
  }
}
