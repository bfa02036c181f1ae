// @ts-nocheck Its packages are installed where it runs.
import Parse from 'parse/node';

const master = { useMasterKey: true };
/** Number of users created by bench/peers/parse-server/fill.mjs. */
export const USERS = 40;
export const nameOf = (n) => `User ${n}`;
export const passwordOf = (n) => `old password ${n}`;

/** Returns what the SDK reads from a Parse Server or from this service: with the master key, and as each user after signing in. */
export async function readAll() {
  const found = {};
  for (const name of ['Post', 'Place', 'Letter', '_User', '_Role']) {
    const objects = await new Parse.Query(name).limit(100_000).ascending('objectId').find(master);
    found[name] = objects.map((object) => object.toJSON());
  }
  found.readers = {};
  for (const object of await new Parse.Query('Post').limit(100_000).find(master)) {
    const members = await object.relation('readers').query().ascending('objectId').find(master);
    if (members.length > 0) found.readers[object.id] = members.map(({ id }) => id);
  }
  found.signedIn = [];
  for (let n = 0; n < USERS; n++) found.signedIn.push(await readAs(await Parse.User.logIn(nameOf(n), passwordOf(n))));
  return found;
}

async function readAs(user) {
  const caller = { sessionToken: user.getSessionToken() };
  const found = { id: user.id, email: user.get('email') };
  for (const name of ['Post', 'Place', 'Letter', '_User']) {
    const objects = await new Parse.Query(name).limit(100_000).ascending('objectId').find(caller);
    found[name] = objects.map(({ id }) => id);
    if (name === 'Post') found.secrets = objects.filter((post) => post.get('secret') !== undefined).map(({ id }) => id);
    if (name === '_User') found.emails = objects.filter((one) => one.get('email') !== undefined).map(({ id }) => id);
  }
  return found;
}
