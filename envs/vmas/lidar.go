// SPDX-License-Identifier: Apache-2.0

package vmas

// Lidar fills dst with the length of each ray of an agent in environment c and returns the number of rays. A ray that
// hits nothing gets the sensor's range. The agent's own body is ignored.
func (w *World) Lidar(c, agent int, dst []float32) int {
	sensor := &w.spec.Agents[agent].Lidar
	self := w.Agent(agent)
	origin, turned := w.Pos(c, self), w.Rot(c, self)
	heading := headingOf(turned)
	rays := w.rays[agent]
	for i := range rays {
		dst[i] = sensor.Range
	}
	for _, b := range sensor.Sees {
		k := &w.body[b]
		offset := w.Pos(c, b).Sub(origin)
		reach := sensor.Range + 1.001*k.bound
		if b == self || square(offset) > reach*reach {
			continue
		}
		target := w.placed(c, b)
		target.pos = offset
		for i, ray := range rays {
			if d, hit := target.hit(ray.Turn(heading)); hit {
				dst[i] = min(dst[i], d)
			}
		}
	}
	return len(rays)
}

// hit returns the distance at which a ray from the origin hits the body. From inside a box no ray hits it. From
// inside a sphere, rays towards the side of its centre hit at a negative distance. Both are as in the original.
func (b *placed) hit(ray Vec) (float32, bool) {
	switch b.shape.Kind {
	case SphereShape:
		return b.hitSphere(ray)
	case LineShape:
		return b.hitLine(ray)
	}
	return b.hitBox(ray)
}

func (b *placed) hitSphere(ray Vec) (float32, bool) {
	along, r := b.pos.Dot(ray), b.shape.Radius
	foot := ray.Mul(along)
	d := b.pos.Sub(foot).Norm()
	if d >= r || along <= 0 {
		return 0, false
	}
	return foot.Norm() - sqrt(r*r-d*d), true
}

func (b *placed) hitLine(ray Vec) (float32, bool) {
	span := b.heading.Mul(2 * b.halfLength)
	across := ray.Cross(span)
	if across == 0 {
		return 0, false
	}
	d, at := b.pos.Cross(span)/across, b.pos.Cross(ray)/across
	return d, d >= 0 && abs(at) <= 0.5
}

// hitBox clips the ray to the box's two slabs in the box's own frame.
func (b *placed) hitBox(ray Vec) (float32, bool) {
	across := b.heading.Left()
	from := Vec{-b.pos.Dot(b.heading), -b.pos.Dot(across)}
	nearX, farX := slab(from.X, ray.Dot(b.heading), b.halfLength)
	nearY, farY := slab(from.Y, ray.Dot(across), b.halfWidth)
	enter, leave := max(nearX, nearY), min(farX, farY)
	return enter, leave >= enter && enter > 0
}

// slab returns where a ray enters and leaves |x| ≤ half. For a parallel ray the division by zero gives the right
// result: −∞ to +∞ inside the slab and an empty interval outside.
func slab(from, along, half float32) (enter, leave float32) {
	t1, t2 := (-half-from)/along, (half-from)/along
	return min(t1, t2), max(t1, t2)
}
