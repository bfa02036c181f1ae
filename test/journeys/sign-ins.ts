/** Browsers of users who have signed in: tests share them, since each sign-in and each first load of the console takes a second. */
import { newPerson, type Person, type PersonOptions } from '../support/browser.ts';
import type { Service } from '../support/service.ts';
import type { User } from '../support/users.ts';

export class SignIns {
  readonly #service: () => Service;
  readonly #people = new Map<string, Person>();

  constructor(service: () => Service) {
    this.#service = service;
  }

  /** Returns the browser of a user, signed in, as the tests before have left it. The test opens an address first. */
  async open({ username }: User, options: PersonOptions = {}): Promise<Person> {
    const key = JSON.stringify([username, options]);
    const known = this.#people.get(key);
    if (known) return known;
    const person = await newPerson(this.#service(), options);
    this.#people.set(key, person);
    await person.open('/console/');
    await person.signIn(username);
    return person;
  }

  async close(): Promise<void> {
    for (const person of this.#people.values()) await person.close();
  }
}
