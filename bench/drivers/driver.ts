/** A PostgreSQL driver as used by the `driver` workload. Statements are prepared in the driver's own way. */
export interface Driver {
  readonly name: string;
  /** Executes a single statement. Rows are arrays if the driver supports that. */
  query(text: string, values: readonly (string | number)[]): Promise<readonly unknown[]>;
  /** Executes statements of the same text in one transaction. */
  transaction(text: string, values: readonly (readonly (string | number)[])[]): Promise<unknown>;
  end(): Promise<void>;
}
