import assert from 'node:assert/strict';

/** Collects the failed assertions of a fault, since one often explains another. */
export class Findings {
  readonly #of: string;
  readonly #messages: string[] = [];

  constructor(of: string) {
    this.#of = of;
  }

  async look(at: () => Promise<void> | void): Promise<void> {
    try {
      await at();
    } catch (error) {
      if (!(error instanceof assert.AssertionError)) throw error;
      this.#messages.push(error.message);
    }
  }

  throw(): void {
    if (this.#messages.length > 0) assert.fail(`${this.#of}:\n${this.#messages.map((message) => `- ${message}`).join('\n')}`);
  }
}
