// Signs in by a key, and allows what an authorization request asks for.
//
//   node answer.mjs ADDRESS KEY
import { leave, Person } from './person.mjs'

const [, , address, key] = process.argv
await new Person({ key }).answer(address)
await leave()
