import { emailKey, loginKey } from '../../kernel/login-key.ts';
import { isFileType, type TableSchema } from '../../schema/model.ts';
import { derivedFieldsOf } from '../../schema/system-tables.ts';
import { type Anonymiser, isAboutPersons } from './anonymise/index.ts';
import type { CloneOptions } from './options.ts';
import { RowChanges } from './row-changes.ts';
import { fileTable, type Shares, usageTable } from './shares.ts';

/** What a clone changes in the records of its tables, and what it notices meanwhile. */
export class TableChanges {
  readonly #options: CloneOptions;
  readonly #shares: Shares;
  readonly #anonymiser: Anonymiser;
  readonly #withoutRule = new Set<string>();
  /** Number of values of File fields that were cleared. */
  clearedFiles = 0;

  constructor(options: CloneOptions, shares: Shares, anonymiser: Anonymiser) {
    this.#options = options;
    this.#shares = shares;
    this.#anonymiser = anonymiser;
  }

  /** Fields that have values, are named as if these were about persons, and have no rule: `Table.Field`. */
  get withoutRule(): readonly string[] {
    return [...this.#withoutRule].sort();
  }

  /** Returns what changes in the records of a table. */
  of(table: TableSchema): RowChanges {
    const { withFiles } = this.#options;
    const changes = new RowChanges(table);
    const { className } = table;
    if (!withFiles) this.#clearFiles(changes, table);
    if (className === '_User') this.#changeUsers(changes);
    // Without users a trigger would have the rights of no one.
    if (className === '_Trigger' && !this.#shares.hasUsers) changes.clear('_author');
    if (className === fileTable) {
      // Assigned by the file store; the copied bytes have new ones.
      changes.clear('version');
      // A large upload that has not arrived goes to the original.
      changes.require('size');
    }
    if (className === usageTable && !withFiles) for (const field of ['files', 'bytes']) changes.change(field, () => 0);
    if (this.#options.rules) this.#anonymise(changes, table);
    return changes;
  }

  #changeUsers(changes: RowChanges): void {
    // Links to reset a password are for the address of the original.
    for (const field of ['_reset_token', '_reset_expires_at']) changes.clear(field);
    if (!this.#options.withLogins) changes.clear('password');
  }

  #clearFiles(changes: RowChanges, table: TableSchema): void {
    for (const { name, type } of table.fields.values())
      if (isFileType(type))
        changes.change(name, () => {
          this.clearedFiles++;
          return null;
        });
  }

  #anonymise(changes: RowChanges, table: TableSchema): void {
    const { className, fields } = table;
    const rules = this.#options.rules?.get(className);
    for (const field of fields.values()) {
      const kind = rules?.get(field.name);
      if (kind) changes.change(field.name, this.#anonymiser.changeFor(kind, field));
      else if (this.#mayBeAboutPersons(className) && isAboutPersons(field, this.#shares.isDefinition(className)))
        changes.notice(field.name, () => this.#withoutRule.add(`${className}.${field.name}`));
    }
    if (!rules) return;
    for (const [source, { field, key }] of derivedFieldsOf(className)) if (rules.has(source)) changes.derive(field, source, key);
    if (className !== '_User') return;
    if (rules.has('username')) changes.derive('_username_key', 'username', loginKey);
    if (rules.has('email')) changes.derive('_email_key', 'email', emailKey);
  }

  /** Other tables of the service hold definitions. */
  #mayBeAboutPersons(className: string): boolean {
    return className === '_User' || !(className.startsWith('_') || className === 'Config');
  }
}
