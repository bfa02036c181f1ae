/** Browsers of users who have signed in before: the first sign-in of a user is kept, since each takes a page, a password and a second. */
import type { BrowserContext } from 'playwright-core';
import { newPerson, type Person, type PersonOptions } from '../support/browser.ts';
import type { Service } from '../support/service.ts';
import type { User } from '../support/users.ts';

export class SignIns {
  readonly #service: () => Service;
  /** Cookies and storage right after the sign-in. */
  readonly #states = new Map<string, Awaited<ReturnType<BrowserContext['storageState']>>>();

  constructor(service: () => Service) {
    this.#service = service;
  }

  /** Returns a new browser in which the user is signed in. It shows no page yet if the user has signed in before. */
  async open({ username }: User, options: PersonOptions = {}): Promise<Person> {
    const storageState = this.#states.get(username);
    if (storageState) return newPerson(this.#service(), { ...options, storageState });
    const person = await newPerson(this.#service(), options);
    await person.open('/console/');
    await person.signIn(username);
    this.#states.set(username, await person.context.storageState());
    return person;
  }
}
