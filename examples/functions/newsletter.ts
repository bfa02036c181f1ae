/**
 * A public form that adds an e-mail address to a list. Sending it again changes only what is new.
 *
 *     curl -X POST "$BASE_URL/functions/$APP_ID/newsletter" -H 'Content-Type: application/json' \
 *       -d '{"email": "dana@example.com", "name": "Dana", "interests": ["gardening"]}'
 */
import { defineFunction, z } from 'record-data-service';

export default defineFunction({
  input: z.object({
    email: z.email().max(80),
    name: z.string().trim().max(100).optional(),
    // A form that sends one interest sends a text.
    interests: z
      .union([z.string().transform((one) => [one]), z.array(z.string())])
      .pipe(z.array(z.string().max(60)).max(20))
      .optional(),
  }),

  async run({ input: { email, name, interests = [] }, system }) {
    const subscriber = await system.first<{ Unsubscribed?: boolean }>('Accounts', { where: { Email: email } });
    const accountId =
      subscriber?.objectId ?? (await system.create('Accounts', { Email: email, Name: name, IsAccount: false })).objectId;
    if (subscriber?.Unsubscribed) await system.update('Accounts', accountId, { Unsubscribed: false });

    // Interests that the system does not know are passed over: anybody can send anything.
    const known = interests.length > 0 ? await system.find('Interests', { where: { Name: { $in: interests } } }) : [];
    const pointers = known.map(({ objectId }) => ({ __type: 'Pointer', className: 'Interests', objectId }));
    if (pointers.length > 0)
      await system.update('Accounts', accountId, { array_interests_Pointer_Interests: { __op: 'AddUnique', objects: pointers } });

    // The same answer for new and old subscribers: it tells nobody who is on the list.
    return { subscribed: true };
  },
});
