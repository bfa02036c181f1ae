/** One way of talking to PostgreSQL, as the `driver` workload uses it. Statements are prepared by whatever means the driver has. */
export interface Driver {
  readonly name: string;
  /** A statement by itself. Rows are arrays where the driver can. */
  query(text: string, values: readonly (string | number)[]): Promise<readonly unknown[]>;
  /** Statements of one text in one transaction. */
  transaction(text: string, values: readonly (readonly (string | number)[])[]): Promise<unknown>;
  end(): Promise<void>;
}
